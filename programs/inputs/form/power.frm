Symbols a,b,c,d,e;
Local F = (a+b+c+d+e)^12;
.sort
id a = b-c;
id e = d+1;
Print +s;
.end
